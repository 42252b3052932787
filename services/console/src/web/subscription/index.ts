export { EndingNotice } from './ending-notice.tsx';
export { goTo, ownUrl } from './go-to.ts';
export { StatusBadge } from './status-badge.tsx';
export { hasEnded, isEnding, toneOf } from './subscription-status.ts';
export { UsageMeters } from './usage-meters.tsx';
export { currencyOf, usePlans } from './use-plans.ts';
