export { ownOriginOnly, pageHeaders } from './guard.ts';
export { type Html, html } from './html.ts';
export { renderPage } from './layout.ts';
export { describeProblem, type Problem } from './problem.ts';
export { problemView, renderProblemPage } from './problem-view.ts';
