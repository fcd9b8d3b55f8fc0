// A button beside each piece of code, which copies what a reader would type: of a session with
// Python its lines after >>> and ..., else all.
const typed = (text) => {
  const lines = text.split("\n");
  const prompted = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
  return prompted.length > 0 ? prompted.map((line) => line.slice(4)).join("\n") : text.trimEnd();
};

document.addEventListener("DOMContentLoaded", () => {
  for (const code of document.querySelectorAll("div.highlight")) {
    if (code.closest(".highlight-text")) continue; // the output of a block
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(code.querySelector("pre").textContent));
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 2000);
    });
    code.append(button);
  }
});
