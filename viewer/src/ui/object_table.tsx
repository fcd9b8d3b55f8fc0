/** A table of objects, each a button that goes to it, beside columns of what is known of them. */

import type { ComponentChildren } from "preact";
import type { Session } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Portraits, Word } from "./label_text.tsx";

interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** What its figures are, shown as a tooltip. */
  title?: string;
  isText?: boolean;
}

interface ObjectTableProps<T> {
  session: Session;
  caption: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
}

export function ObjectTable<T extends { object: number }>(props: ObjectTableProps<T>) {
  const { session, caption, rows, columns } = props;
  const { atlas } = session;
  if (rows.length === 0) return null;
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{atlas.noun[0]}</th>
          {columns.map(({ head, title, isText }) => (
            <th key={head} scope="col" class={isText ? undefined : "number"} title={title}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.object}>
            <th scope="row">
              <Button class="plain" onClick={() => session.follow(row.object)}>
                <Portraits atlas={atlas} object={row.object} isNamed />
                <Word atlas={atlas} object={row.object} />
              </Button>
            </th>
            {columns.map(({ head, cell, isText }) => (
              <td key={head} class={isText ? undefined : "number"}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
