// The diff of an approval: files with risks first, hunks that can be switched, lines that take comments. The server
// has parsed it and has made every deceiving character visible.
import { Component, html } from "/assets/core/html.js";
import { VirtualList } from "/assets/core/virtual.js";
import { counted } from "/assets/core/text.js";

const ROW = 22; // pixels; as in styles.css

export class Diff extends Component {
  render({ diff, draft, changed, onComment }) {
    if (!diff.files.length) return null;
    const rows = rowsOf(diff, draft);
    const hunks = diff.files.reduce((sum, file) => sum + file.hunks.length, 0);
    const added = diff.files.reduce((sum, file) => sum + file.added, 0);
    const removed = diff.files.reduce((sum, file) => sum + file.removed, 0);
    const chosen = draft.choices ? `${draft.hunks.size} of ${draft.choices} chosen, ` : "";
    const row = (at) => drawn(rows[at], at, { diff, draft, changed, onComment });
    return html`<div class="diff">
      <p class="facts">${chosen}${counted(hunks, "part")} in ${counted(diff.files.length, "file")}${" "}
        <span class="good">+${added}</span> <span class="bad">-${removed}</span></p>
      ${diff.cut && html`<p class="bad" role="note">Only the beginning of the diff is shown here.</p>`}
      <${VirtualList} count=${rows.length} rowHeight=${ROW} row=${row} label="Changes" className="diff-rows"
        most="62vh" />
    </div>`;
  }
}

function rowsOf(diff, draft) {
  const rows = [];
  for (const file of diff.files) {
    const open = file.folded === draft.opened.has(file.path);
    rows.push({ type: "file", file, open });
    if (!open) continue;
    for (const hunk of file.hunks) {
      rows.push({ type: "hunk", file, hunk });
      for (const line of hunk.lines) rows.push({ type: "line", file, line });
    }
  }
  return rows;
}

function drawn(row, at, given) {
  if (row.type === "file") return fileRow(row, at, given);
  if (row.type === "hunk") return hunkRow(row, at, given);
  return lineRow(row, at, given);
}

function fileRow({ file, open }, at, { draft, changed, onComment }) {
  const toggle = () => {
    if (!draft.opened.delete(file.path)) draft.opened.add(file.path);
    changed();
  };
  return html`<div class="diff-file" key=${at}>
    <button type="button" class="quiet" aria-expanded=${open ? "true" : "false"} onClick=${toggle}>
      <span aria-hidden="true">${open ? "▾" : "▸"}</span> ${file.path}</button>
    ${file.risks.length > 0 && html`<span class="bad">⚠ ${file.risks.join(", ")}</span>`}
    <span class="good">+${file.added}</span><span class="bad">-${file.removed}</span>
    ${onComment && html`<button type="button" class="quiet" onClick=${() => onComment(file.name, 0)}>Comment</button>`}
  </div>`;
}

function hunkRow({ hunk }, at, { diff, draft, changed }) {
  const words = [hunk.at ? `@@ ${hunk.at}` : "", hunk.around, hunk.note].filter(Boolean).join("  ");
  const toggle = () => {
    if (!draft.hunks.delete(hunk.number)) draft.hunks.add(hunk.number);
    changed();
  };
  const box = html`<label><input type="checkbox" class="part" checked=${draft.hunks.has(hunk.number)}
    onChange=${toggle} /> Part ${hunk.number}</label>`;
  return html`<div class="diff-hunk" key=${at}>${diff.choices > 0 && draft.choices > 0 && box}<span>${words}</span></div>`;
}

function lineRow({ file, line }, at, { onComment }) {
  const kind = line.mark === "+" ? "added" : line.mark === "-" ? "removed" : "same";
  const number = line.new ?? line.old;
  const place = onComment && line.new
    ? html`<button type="button" class="line-number" aria-label=${`Comment on line ${line.new} of ${file.path}`}
        onClick=${() => onComment(file.name, line.new)}>${number}</button>`
    : html`<span class="line-number">${number}</span>`;
  return html`<div class=${`diff-line ${kind}`} key=${at}>${place}<span class="mark">${line.mark}</span
    ><code>${line.text}</code></div>`;
}
