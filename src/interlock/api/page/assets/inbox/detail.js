// One approval: who asks and why, exactly what would run, and the answers.
import { part } from "/assets/core/api.js";
import { Component, html } from "/assets/core/html.js";
import { elapsed, safe, sentence } from "/assets/core/text.js";
import { GLANCE_MS } from "/assets/inbox/answering.js";
import { Draft, isPossible, labelOf } from "/assets/inbox/drafts.js";
import { code, payloadOf } from "/assets/inbox/payload.js";

const WITH_DIFF = new Set(["tool", "merge", "review", "gate", "script"]);
const MOST_KEPT = 200;
const GOES = new Set(["approve", "retry"]);

const drafts = new Map(); // by approval: they outlive a look at another one

export class Detail extends Component {
  state = { approval: null, diff: null, error: "" };

  componentDidMount() {
    this.props.present(this);
    this.load();
  }

  componentDidUpdate(before) {
    if (before.row.id !== this.props.row.id) this.load();
  }

  componentWillUnmount() {
    this.props.present(null);
  }

  get draft() {
    return drafts.get(this.state.approval?.id);
  }

  // An approval that has just appeared under a finger or a key must not be answered by it.
  get isTooSoon() {
    return performance.now() - this.shownAt < GLANCE_MS;
  }

  async load() {
    const { row, workbench } = this.props;
    this.setState({ approval: null, diff: null, error: "" });
    try {
      const approval = await workbench.api.get(`/api/approvals/${part(row.id)}`);
      const diff = await this.diffOf(approval, drafts.get(row.id)?.since ?? Boolean(approval.payload.since));
      if (row.id !== this.props.row.id) return;
      if (!drafts.has(row.id)) {
        if (drafts.size >= MOST_KEPT) drafts.delete(drafts.keys().next().value);
        drafts.set(row.id, new Draft(approval, diff.whole));
      }
      this.shownAt = performance.now();
      this.setState({ approval, diff }, () => this.takeFocus());
    } catch (error) {
      if (row.id === this.props.row.id) this.setState({ error: error.message });
    }
  }

  // The button that had the focus is gone with its approval: a keyboard goes on with the next one.
  takeFocus() {
    const { answering, row } = this.props;
    if (!answering.given || answering.given === row.id) return;
    answering.given = "";
    const at = document.activeElement;
    if (at === document.body || at?.closest(".detail")) document.getElementById("asked")?.focus({ preventScroll: true });
  }

  async diffOf(approval, since) {
    if (!WITH_DIFF.has(approval.kind)) return { files: [], choices: 0, whole: 0, cut: false };
    const path = `/api/approvals/${part(approval.id)}/diff`;
    const whole = await this.props.workbench.api.get(path);
    const shown = since ? await this.props.workbench.api.get(`${path}?which=since`) : whole;
    return { ...shown, whole: whole.choices };
  }

  redraw = () => this.setState({});

  loadDiff = async () => {
    const { approval } = this.state;
    this.setState({ diff: await this.diffOf(approval, this.draft.since) });
  };

  comment = (file, line) => {
    this.draft.comment = { file, line };
    this.redraw();
    setTimeout(() => document.getElementById("comment")?.focus(), 0);
  };

  // ── actions ──────────────────────────────────────────────────────────────────────────

  byLetter(letter) {
    const { approval } = this.state;
    const action = approval?.actions.find((one) => one.key === letter);
    if (!action) return false;
    if (this.isTooSoon) return true;
    if (!action.decision) this.prepare(action);
    else if (isPossible(action, this.draft)) this.props.answering.byKey(approval, action, this.draft);
    return true;
  }

  prepare(action) {
    const { draft } = this;
    if (action.name === "edit") {
      draft.editing = !draft.editing;
      if (!draft.editing) draft.text = draft.original;
    } else if (action.name === "context") {
      draft.editingContext = !draft.editingContext;
      if (!draft.editingContext) draft.context = draft.originalContext;
    } else if (action.name === "parts") {
      setTimeout(() => document.querySelector("input.part")?.focus(), 0);
    } else if (action.name === "always") {
      this.showRule();
    }
    this.redraw();
    if (draft.editing || draft.editingContext) setTimeout(() => document.querySelector(".edit textarea")?.focus(), 0);
  }

  async showRule() {
    const { approval } = this.state;
    await this.props.workbench.act("the rule", async (api) => {
      const { rule } = await api.get(`/api/approvals/${part(approval.id)}/rule`);
      this.draft.rule = rule;
    });
    this.redraw();
  }

  press(action) {
    if (this.isTooSoon) return;
    if (action.decision) this.props.answering.give(this.state.approval, action, this.draft);
    else this.prepare(action);
  }

  render({ row, answering, workbench }, { approval, diff, error }) {
    if (error) return html`<p class="bad" role="alert">${safe(error)}</p>`;
    if (!approval) return html`<p class="dim">Reading ${row.id} …</p>`;
    const { draft } = this;
    const given = { draft, diff, changed: this.redraw, onComment: this.comment, loadDiff: this.loadDiff };
    return html`<article class="detail" aria-labelledby="asked" data-approval=${approval.id}>
      <header>
        <h3 id="asked" tabindex="-1">${sentence(approval.title)}</h3>
        <p class="dim">${approval.id} · ${safe(approval.asker)} asks${approval.why ? `: ${safe(approval.why)}` : ""} · ${
          elapsed(approval.requested_at)}${approval.deadline ? ` · until ${safe(approval.deadline)}` : ""}</p>
        ${row.urgency?.reason && html`<p class="waiting">${safe(row.urgency.reason)}</p>`}
        ${approval.again && again(approval)}
      </header>
      ${payloadOf(approval, given)}
      ${draft.rule && html`<h4>This new rule would allow it without an approval</h4>${code(draft.rule.trim(), "rule")}`}
      <p class="digest dim">digest <code>${approval.digest}</code></p>
      ${this.foot(approval, draft, answering)}
      ${row.alike.length > 1 && this.many(row, draft, answering)}
    </article>`;
  }

  foot(approval, draft, answering) {
    const hindrance = answering.hindrance || (answering.sending ? "an answer is being recorded" : "");
    const takesMessage = approval.answers.includes("reject") || approval.answers.includes("changes");
    const onInput = (event) => ((draft.message = event.target.value), this.redraw());
    return html`<div class="foot">
      ${takesMessage && html`<label>Message
        <input type="text" maxlength="10000" value=${draft.message} onInput=${onInput}
          placeholder=${approval.answers.includes("changes") ? "What should change, or why not" : "Reason (optional)"} />
      </label>`}
      <div class="buttons" role="group" aria-label="Answers">
        ${approval.actions.map((action) => html`<button type="button" key=${action.name} data-action=${action.name}
          class=${GOES.has(action.decision) ? "go" : action.decision === "abort" ? "stop" : ""}
          disabled=${Boolean(action.decision) && (Boolean(hindrance) || !isPossible(action, draft))}
          aria-keyshortcuts=${action.key} onClick=${() => this.press(action)}>
          ${labelOf(action, draft)} <kbd aria-hidden="true">${action.key}</kbd></button>`)}
        ${draft.rule && this.always(approval, draft, answering)}
      </div>
      ${hindrance && html`<p class="waiting" role="note">${safe(hindrance)}</p>`}
    </div>`;
  }

  always(approval, draft, answering) {
    const approve = approval.actions.find((one) => one.name === "approve");
    const whole = new Draft(approval, 0);
    const give = (everywhere) => () => answering.give(approval, approve, whole, { rule: draft.rule, everywhere });
    const disabled = Boolean(answering.hindrance);
    return html`<button type="button" class="go" disabled=${disabled} onClick=${give(false)}>Approve, always</button>
      <button type="button" disabled=${disabled} onClick=${give(true)}>…in all projects</button>`;
  }

  many(row, draft, answering) {
    const number = row.alike.length;
    const give = (decision) => () => answering.giveMany(row, decision, draft.message);
    const disabled = Boolean(answering.hindrance) || !row.many;
    return html`<div class="buttons many" role="group" aria-label="Equal ones together">
      <button type="button" disabled=${disabled} onClick=${give("approve")}>Approve all ${number} equal</button>
      <button type="button" disabled=${disabled} onClick=${give("reject")}>Reject all ${number} equal</button>
    </div>`;
  }
}

function again({ again: { of, changes, edited } }) {
  return html`<div class="waiting"><p>Asked again: what was approved as ${of} has changed.</p>
    <ul>${(changes ?? []).map(
      (one) => html`<li>${safe(one.field)}: ${safe(one.before) || "(nothing)"} → ${safe(one.after) || "(nothing)"}</li>`,
    )}</ul>
    ${edited !== null && edited !== undefined && html`<p>Your edit of ${of} is kept: it is part of what is shown.</p>`}</div>`;
}
