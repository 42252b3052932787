export { addressOf, ROOT, resolveHref } from './addresses.ts';
export { INDEX_SOURCE, type SiteSection, siteSections } from './guide-sections.ts';
export { readSources, type Sources } from './read-sources.ts';
