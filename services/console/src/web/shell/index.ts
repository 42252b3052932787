export { CrashBoundary, watchImports } from './crash-boundary.tsx';
export { LeaveForSignIn } from './leave-for-sign-in.tsx';
export { BusinessOnlyPage, NotFoundPage } from './message-pages.tsx';
export { SignedInLayout } from './signed-in-layout.tsx';
export { SignedOutLayout } from './signed-out-layout.tsx';
export { ThemeProvider } from './theme.tsx';
export { LanguageProvider, loadLanguage, Unreachable } from './unreachable.tsx';
