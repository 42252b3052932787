export { ruleFiles } from './rule-files.ts';
