// Sends answers. A key's answer can be taken back for a moment; nothing is sent without a connection, and nothing twice.
import { NotConnected, part } from "/assets/core/api.js";
import { answerBody } from "/assets/inbox/drafts.js";

const PAUSE_MS = 2_000; // in which an answer by a single key can be taken back
export const GLANCE_MS = 300; // an answer sooner than this cannot follow from reading the approval

const DONE = { approve: "Approved", reject: "Rejected", abort: "Aborted", retry: "Retried", skip: "Skipped" };

export class Answering {
  constructor(workbench, changed) {
    this.workbench = workbench;
    this.changed = changed;
    this.held = null; // { id, words, timer }
    this.sending = "";
    this.given = ""; // the approval that this tab answered last: the focus goes on to the next one
  }

  // Why nothing can be answered now; "" if it can.
  get hindrance() {
    const { connected, overview } = this.workbench.state;
    if (!connected) return "not connected: answers cannot be sent";
    return overview?.answers ? "" : overview?.why_not ?? "";
  }

  byKey(approval, action, draft) {
    if (this.hindrance) return this.workbench.note(this.hindrance, "bad");
    this.takeBack(); // only one answer is held
    const send = () => {
      this.held = null;
      this.give(approval, action, draft);
    };
    const words = `${doing(action)} ${approval.id}`;
    this.held = { id: approval.id, words, timer: setTimeout(send, PAUSE_MS) };
    this.changed();
  }

  takeBack() {
    if (!this.held) return false;
    clearTimeout(this.held.timer);
    this.workbench.note(`${this.held.id} was not answered: the answer was taken back`);
    this.held = null;
    this.changed();
    return true;
  }

  // "Approved" is said only after the workbench has answered, and that is after its journal has it on disk.
  async give(approval, action, draft, always) {
    const { workbench } = this;
    if (this.hindrance) return workbench.note(`${approval.id} was not answered: ${this.hindrance}`, "bad");
    if (this.sending) return undefined;
    this.sending = approval.id;
    this.changed();
    try {
      const body = answerBody(approval, action.decision, draft);
      if (always) body.always = always;
      await workbench.api.post(`/api/approvals/${part(approval.id)}`, body);
      this.given = approval.id;
      workbench.note(`${said(action)} ${approval.id}`, "good");
    } catch (error) {
      this.refused(approval.id, error);
    } finally {
      this.sending = "";
      workbench.soon("inbox");
      workbench.soon("overview");
      this.changed();
    }
    return undefined;
  }

  async giveMany(row, decision, message) {
    const { workbench } = this;
    if (this.hindrance || this.sending) return;
    this.sending = row.id;
    this.changed();
    try {
      const body = { approvals: row.alike, decision, message };
      const done = await workbench.api.post("/api/approvals", body);
      workbench.note(`${DONE[decision]}: ${done.sentence}`, done.left_out.length ? "waiting" : "good");
    } catch (error) {
      this.refused(`${row.alike.length} approvals`, error);
    } finally {
      this.sending = "";
      workbench.soon("inbox");
      workbench.soon("overview");
      this.changed();
    }
  }

  refused(what, error) {
    if (error instanceof NotConnected) {
      this.workbench.events.retryNow();
      this.workbench.note(`${what}: the connection broke; it is not known whether the answer arrived`, "bad");
    } else {
      this.workbench.note(`${what} was not answered by you: ${error.message}`, "bad");
    }
  }
}

function doing(action) {
  return { approve: "Approving", changes: "Requesting changes of", reject: "Rejecting", retry: "Retrying" }[action.decision]
    ?? `${action.label}:`;
}

function said(action) {
  return DONE[action.decision] ?? "Changes requested:";
}
