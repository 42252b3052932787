export { ruleFiles } from './main.ts';
