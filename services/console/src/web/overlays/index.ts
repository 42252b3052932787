export { ActionMenu } from './action-menu.tsx';
export { Dialog, DialogActions, OnceOnlyDialog } from './dialog.tsx';
export { ConfirmDialog, OVERLAP_SECONDS, type Overlap, RotateDialog } from './rotate-dialog.tsx';
