// The user's unsent answer to one approval, and what it becomes when it is sent.

export class Draft {
  constructor(approval, choices) {
    this.editing = false;
    this.editingContext = false;
    this.text = this.original = normal(editable(approval) ?? "");
    this.context = this.originalContext = normal(approval.payload.context ?? "");
    this.message = "";
    this.comments = [];
    this.comment = null; // the place that a comment is being written for
    this.commentText = "";
    this.rule = "";
    this.choices = choices;
    this.hunks = new Set(Array.from({ length: choices }, (_, at) => at + 1));
    this.since = Boolean(approval.payload.since);
    this.opened = new Set(); // files that are folded by default and were opened, and the reverse
  }

  get isEdited() {
    return this.editing && this.text !== this.original;
  }

  get isContextEdited() {
    return this.editingContext && this.context !== this.originalContext;
  }
}

// A text field has line feeds only: a text that differs in nothing else was not edited.
function normal(text) {
  return text.replace(/\r\n?/g, "\n");
}

export function editable(approval) {
  const { payload } = approval;
  switch (approval.kind) {
    case "script":
      return payload.script;
    case "tool":
    case "ask":
      return payload.arguments ?? null;
    case "spawn":
      return payload.prompt;
    case "tracks":
      return JSON.stringify(payload.tracks, null, 2);
    default:
      return null;
  }
}

const EDITED = { script: "script", tool: "arguments", ask: "arguments", spawn: "prompt", tracks: "tracks" };

// The body of the request that answers. Throws an Error in words if an edit cannot be sent.
export function answerBody(approval, decision, draft) {
  const body = { decision, message: draft.message, comments: draft.comments };
  if (decision !== "approve") return body;
  const edits = {};
  if (draft.isEdited) {
    const field = EDITED[approval.kind];
    edits[field] = field === "tracks" ? parsed(draft.text) : draft.text;
  }
  if (draft.isContextEdited) edits.context = draft.context;
  if (Object.keys(edits).length) body.edits = edits;
  else if (draft.choices && draft.hunks.size < draft.choices) body.hunks = [...draft.hunks].sort((a, b) => a - b);
  return body;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the edited tracks are not JSON: ${error.message}`);
  }
}

export function labelOf(action, draft) {
  if (action.name === "approve" && draft.isEdited) return "Approve edited";
  if (action.name === "approve" && draft.choices && draft.hunks.size < draft.choices) {
    return `Approve ${draft.hunks.size} of ${draft.choices}`;
  }
  if (action.name === "edit" && draft.editing) return "Discard edit";
  if (action.name === "context" && draft.editingContext) return "Discard context edit";
  return action.label;
}

export function isPossible(action, draft) {
  if (action.decision === "changes") return Boolean(draft.message.trim() || draft.comments.length);
  if (action.decision === "approve") return !draft.choices || draft.hunks.size > 0;
  return true;
}
