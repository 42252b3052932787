export { type Frame, type NavigationSection, type Page, type PageLink, renderPage } from './render-page.ts';
export { searchEntries } from './search-entries.ts';
