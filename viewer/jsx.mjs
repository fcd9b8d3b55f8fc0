// What JSX becomes calls of: the children are arguments, which is shorter than a property of each element.
export { Fragment, h } from "preact";
