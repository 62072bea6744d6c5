// Exactly what would run, for each kind of approval: bytes, folder, sandbox, network, evidence.
import { html } from "/assets/core/html.js";
import { markdown } from "/assets/core/markdown.js";
import { counted, exact, safe } from "/assets/core/text.js";
import { Diff } from "/assets/inbox/diff.js";

export function payloadOf(approval, given) {
  const draw = DRAWN[approval.kind] ?? unknown;
  return draw(approval.payload, given, approval);
}

export function code(text, label) {
  const lines = exact(text).split("\n");
  return html`<pre class="code numbered" tabindex="0" role="group" aria-label=${label}>${lines.map(
    (line, at) => html`<span class="code-line" key=${at}>${line}${"\n"}</span>`,
  )}</pre>`;
}

function facts(...pairs) {
  const shown = pairs.filter(([, value]) => value);
  return html`<dl class="fact-list">${shown.map(
    ([name, value, tone]) => html`<div><dt>${name}</dt><dd class=${tone ?? ""}>${exact(value)}</dd></div>`,
  )}</dl>`;
}

function edited(draft, field, label, changed) {
  const onInput = (event) => ((draft[field] = event.target.value), changed());
  return html`<label class="edit">${label}
    <textarea class="code" rows="10" spellcheck="false" value=${draft[field]} onInput=${onInput}></textarea></label>`;
}

function withEdit(text, what, { draft, changed }) {
  if (!draft.editing) return code(text, what);
  const deceives = exact(text) !== text && html`<p class="bad" role="note">
    This text has characters that deceive. They are named here, and hidden in the field below.</p>${code(text, what)}`;
  return html`${deceives}${edited(draft, "text", `Edited ${what}`, changed)}`;
}

function diffOf({ diff, draft, changed }, onComment) {
  return diff && html`<${Diff} diff=${diff} draft=${draft} changed=${changed} onComment=${onComment} />`;
}

function script(payload, given) {
  const off = payload.sandbox === "off";
  const effect = payload.effect;
  return html`${withEdit(payload.script, "script", given)}
    ${facts(
      ["may write", off ? "ANYTHING: the sandbox is off" : "worktree only", off ? "bad" : "good"],
      ["network", payload.network ? "on" : "off", payload.network ? "bad" : "good"],
      ["sandbox", payload.sandbox],
      ["in", payload.directory],
      ["environment", (payload.env_names ?? []).join(" ")],
    )}
    ${payload.services?.length && html`<h4>Services that start beside it</h4>${code(payload.services.join("\n"), "services")}`}
    ${effect && html`<h4>What it would change</h4>
      <p>${effect.unknown ? `its effect cannot be shown beforehand: ${safe(effect.unknown)}` : changes(effect)}</p>`}
    ${effect && diffOf(given)}`;
}

function changes(effect) {
  const number = (effect.files?.length ?? 0) + (effect.more ?? 0);
  return number ? `approving makes exactly these changes (${counted(number, "path")}), if they still fit` : "no file";
}

function tool(payload, given) {
  const { draft, diff } = given;
  const shown = diff?.files.length > 0;
  return html`${shown && diffOf(given)}
    ${(!shown || draft.editing) && html`<h4>Arguments</h4>${withEdit(payload.arguments, "arguments", given)}`}
    ${facts(["tool", payload.tool], ["contacts", (payload.hosts ?? []).join(", "), "bad"], ["in", payload.directory])}`;
}

function spawn(payload, given) {
  const { draft, changed } = given;
  return html`${facts(["role", payload.role], ["model", payload.model])}
    ${(payload.terms ?? []).map((line) => html`<p class=${payload.unsupervised ? "waiting" : "dim"}>${safe(line)}</p>`)}
    <h4>Prompt</h4>${withEdit(payload.prompt, "prompt", given)}
    <h4>Context</h4>${draft.editingContext
      ? edited(draft, "context", "Edited context", changed)
      : code(payload.context, "context")}`;
}

function step(payload) {
  const also = payload.script ? "this script, in the sandbox and without network" : "the start of the worker";
  return html`<p class="pre">${safe(payload.description)}</p>${facts(["role", payload.role])}
    ${payload.script && code(payload.script, "script")}
    ${payload.gates?.length && html`<h4>Verified by</h4>${code(payload.gates.join("\n"), "gates")}`}
    <p class="dim">Approving it also allows ${also}.</p>`;
}

function gate(payload, given) {
  const why = payload.unchanged
    ? "No file was changed, and no gate has run."
    : payload.packages
      ? "The gate has not run: its packages are not installed."
      : payload.files.length
        ? ""
        : `Failed ${payload.attempts} of ${counted(payload.max_attempts, "time")}.`;
  return html`${why && html`<p class="bad">${why}</p>`}
    ${payload.command && code(payload.command, "gate")}
    <div class="said">${markdown(payload.message)}</div>${diffOf(given)}`;
}

function evidence(gates, unverified, tree) {
  return html`<p class=${unverified ? "bad" : "good"}>${
    unverified ? `UNVERIFIED: ${safe(unverified)}` : `Verified on exactly this tree (${safe(tree ?? "").slice(0, 12)})`
  }</p>
  <ul class="evidence">${(gates ?? []).map(
    (one) => html`<li class=${["passed", "judged"].includes(one.status) ? "dim" : "bad"}>${safe(one.ticket)}: ${safe(
      one.gate,
    )}: ${safe(one.status)}${one.reused ? " (reused)" : ""}</li>`,
  )}</ul>`;
}

function since({ draft, changed, loadDiff }) {
  const turn = () => ((draft.since = !draft.since), loadDiff(), changed());
  return html`<p><button type="button" onClick=${turn}>${
    draft.since ? "Show the whole change" : "Show what changed since the last round"
  }</button></p>`;
}

function merge(payload, given) {
  return html`${facts(["onto", payload.branch], ["from", payload.before.slice(0, 10)], ["to", payload.after.slice(0, 10)])}
    ${evidence(payload.gates, payload.unverified ?? "no result of a gate is recorded for this tree", payload.tree)}
    ${(payload.left_out ?? []).map((one) => html`<p class="bad">left out: ${safe(one)}</p>`)}
    <ul class="evidence">${(payload.tickets ?? []).map(
      (one) => html`<li class=${one.unverified ? "bad" : "dim"}>${safe(one.id)} ${safe(one.title)}: ${
        one.reviewed ? "reviewed" : one.ran ? `ran without a question: ${one.ran}` : "asked"
      }${one.cost ? `, ${safe(one.cost)}` : ""}</li>`,
    )}</ul>
    ${payload.since && since(given)}${diffOf(given, given.onComment)}${comments(given)}`;
}

function review(payload, given) {
  return html`${evidence(payload.gates, payload.unverified, payload.tree)}
    ${payload.summary && html`<div class="said">${markdown(payload.summary)}</div>`}
    ${facts(["round", String(payload.round)], ["cost of the ticket so far", payload.cost])}
    ${payload.ran.length > 0 && html`<details><summary>${counted(payload.ran.length, "action")} ran without a question</summary>
      ${code(payload.ran.join("\n"), "actions")}</details>`}
    ${payload.since && since(given)}${diffOf(given, given.onComment)}${comments(given)}`;
}

function comments({ draft, changed }) {
  const remove = (at) => () => (draft.comments.splice(at, 1), changed());
  const place = draft.comment;
  const add = () => {
    const text = draft.commentText.trim();
    if (!text) return;
    draft.comments.push(place.line ? { file: place.file, line: place.line, text } : { file: place.file, text });
    draft.comment = null;
    draft.commentText = "";
    changed();
  };
  const where = (one) => `${exact(one.file)}${one.line ? `:${one.line}` : ""}`;
  return html`<section class="comments" aria-label="Comments">
    ${draft.comments.map((one, at) => html`<p><button type="button" class="quiet" onClick=${remove(at)}
      aria-label=${`Remove the comment on ${where(one)}`}>✕</button> <b>${where(one)}</b> ${safe(one.text)}</p>`)}
    ${place && html`<label>Comment on ${where(place)}
      <textarea rows="2" id="comment" value=${draft.commentText}
        onInput=${(event) => ((draft.commentText = event.target.value), changed())}></textarea></label>
      <p><button type="button" onClick=${add}>Add the comment</button>
      <button type="button" class="quiet" onClick=${() => ((draft.comment = null), changed())}>Cancel</button></p>`}
  </section>`;
}

function tracks(payload, given) {
  return html`<p class="dim">${safe(payload.text)}</p>
    ${given.draft.editing
      ? edited(given.draft, "text", "Edited tracks, as JSON", given.changed)
      : payload.tracks.map((plan) => html`<h4>${safe(plan.title)}</h4><p class="pre">${safe(plan.description)}</p>`)}`;
}

function unknown(payload) {
  return html`<p class="pre">${safe(payload.what)}</p><p class="pre dim">${safe(payload.question)}</p>`;
}

const DRAWN = { script, tool, ask: tool, spawn, step, gate, merge, review, tracks, unknown };
