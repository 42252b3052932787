export { AuditPage } from './audit-page.tsx';
export { MemberUsagePage } from './member-usage-page.tsx';
export { MembersPage } from './members-page.tsx';
export { SeatsPage } from './seats-page.tsx';
export { OrganizationSettingsPage } from './settings-page.tsx';
