export { ActionMenu } from './action-menu.tsx';
export { ConfirmDialog } from './confirm-dialog.tsx';
export { Dialog } from './dialog.tsx';
export { DialogActions } from './dialog-actions.tsx';
export { OVERLAP_SECONDS, type Overlap, RotateDialog } from './rotate-dialog.tsx';
