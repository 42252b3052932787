export type { PagePath } from './page-operations.ts';
export { useMayOpen } from './pages.ts';
export { Permitted, PermittedPage } from './permitted.tsx';
export { useMay } from './use-may.ts';
