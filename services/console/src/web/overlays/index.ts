export { ActionMenu } from './action-menu.tsx';
export { ConfirmDialog } from './confirm-dialog.tsx';
export { Dialog, DialogActions, OnceOnlyDialog } from './dialog.tsx';
export { OVERLAP_SECONDS, type Overlap, RotateDialog } from './rotate-dialog.tsx';
