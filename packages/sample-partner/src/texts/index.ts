export { en, type Texts } from './en.ts';
export { it } from './it.ts';
export { setLanguage, textsOf, type View } from './view-of.ts';
