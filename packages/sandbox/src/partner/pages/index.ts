export { ownOriginOnly, pageHeaders, pagePolicy } from './guard.ts';
export { renderPage } from './layout.ts';
export { describeProblem, type Problem } from './problem.ts';
export { problemView, renderProblemPage } from './problem-view.ts';
export { renderSetupPage } from './setup-page.ts';
