export { ensureLocalAuthority, type LocalAuthority } from './ensure-local-authority.ts';
