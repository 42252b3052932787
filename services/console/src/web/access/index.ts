export type { PagePath } from './page-operations.ts';
export { Permitted, PermittedPage, useMay, useMayOpen } from './permitted.tsx';
