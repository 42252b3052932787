import { CODE_TAB_KEY, readChoice, THEME_KEY } from './choices.ts';

// Runs before the first paint, so that a remembered theme or language moves nothing.
const theme = readChoice(THEME_KEY);
if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
const tab = readChoice(CODE_TAB_KEY);
if (tab !== null) document.documentElement.dataset['codeTab'] = tab;
