export { CrashBoundary, watchImports } from './crash-boundary.tsx';
export {
  BusinessOnlyPage,
  LanguageProvider,
  LeaveForSignIn,
  loadLanguage,
  NotFoundPage,
  Unreachable,
} from './message-pages.tsx';
export { SignedInLayout } from './signed-in-layout.tsx';
export { SignedOutLayout, ThemeProvider } from './signed-out-layout.tsx';
