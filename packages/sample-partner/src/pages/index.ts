export { ownOriginOnly, pageHeaders } from './guard.ts';
export { renderPage } from './layout.ts';
export { describeProblem, type Problem } from './problem.ts';
export { problemView, renderProblemPage } from './problem-view.ts';
