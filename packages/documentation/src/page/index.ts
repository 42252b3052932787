export { type Frame, type NavigationSection, type Page, type PageLink, renderPage } from './render-page.ts';
export { searchIndex } from './search-index.ts';
