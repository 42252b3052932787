export { createDrafts, DraftsContext, dropDrafts, useHasDraft } from './drafts.ts';
export { useDraft, useKeepDraft } from './use-draft.ts';
