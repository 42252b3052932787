export { referencePages } from './reference-pages.ts';
