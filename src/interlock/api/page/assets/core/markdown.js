// A small part of Markdown as nodes: headings, lists, quotes, code, emphasis. No links, no pictures, no markup: the
// address of a link is shown as text, so that nothing a model writes can be clicked.
import { html } from "/assets/core/html.js";
import { exact, safe } from "/assets/core/text.js";

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*/gu;

export function markdown(text) {
  const lines = String(text ?? "").replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length; ) at = block(lines, at, blocks);
  return blocks;
}

function block(lines, at, blocks) {
  const line = lines[at];
  const fence = /^\s*(```+|~~~+)/.exec(line);
  if (fence) return fenced(lines, at, fence[1], blocks);
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading) {
    blocks.push(html`<p class="said-heading">${inline(heading[2])}</p>`);
    return at + 1;
  }
  if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) return list(lines, at, blocks);
  if (/^\s*>/.test(line)) {
    blocks.push(html`<blockquote>${inline(line.replace(/^\s*>\s?/, ""))}</blockquote>`);
    return at + 1;
  }
  if (!line.trim()) return at + 1;
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !/^(\s*(```|~~~|>|[-*+]\s|\d+[.)]\s)|#{1,6}\s)/.test(lines[end])) {
    end += 1;
  }
  blocks.push(html`<p>${inline(lines.slice(at, end).join("\n"))}</p>`);
  return end;
}

function fenced(lines, at, mark, blocks) {
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end += 1;
  blocks.push(html`<pre class="code" tabindex="0"><code>${exact(lines.slice(at + 1, end).join("\n"))}</code></pre>`);
  return end + 1;
}

function list(lines, at, blocks) {
  const rows = [];
  const ordered = /^\s*\d/.test(lines[at]);
  while (at < lines.length) {
    const found = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(lines[at]);
    if (!found) break;
    rows.push(html`<li>${inline(found[1])}</li>`);
    at += 1;
  }
  blocks.push(ordered ? html`<ol>${rows}</ol>` : html`<ul>${rows}</ul>`);
  return at;
}

function inline(text) {
  const nodes = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(safe(text.slice(done, found.index)));
    if (found[1] !== undefined) nodes.push(html`<code>${exact(found[1])}</code>`);
    else if (found[2] !== undefined) nodes.push(html`<strong>${safe(found[2])}</strong>`);
    else nodes.push(html`<em>${safe(found[3])}</em>`);
    done = found.index + found[0].length;
  }
  nodes.push(safe(text.slice(done)));
  return nodes;
}
