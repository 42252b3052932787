export { type PagePath, useMayOpen } from './pages.ts';
export { Permitted, PermittedPage } from './permitted.tsx';
export { mayAs, useMay } from './use-may.ts';
