export { BlockedBadge } from './blocked-badge.tsx';
