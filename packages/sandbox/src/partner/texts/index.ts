export { en, type Texts } from './en.ts';
export { formatTime } from './format-time.ts';
export { it } from './it.ts';
export { setLanguage, textsOf, type View } from './view-of.ts';
