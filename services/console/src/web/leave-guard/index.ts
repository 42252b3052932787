export { createLeaveGuard, LeaveGuardContext, useIsGuarded, useLeaveGuard } from './leave-guard.ts';
export { OnceOnly, useShowOnce } from './once-only.tsx';
