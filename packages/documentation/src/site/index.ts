export { addressOf, ROOT, resolveHref } from './addresses.ts';
export { type Area, areaOf, INDEX_SOURCE, type SiteSection, siteSections, sourcesIn } from './guide-sections.ts';
export { inLanguage, isGuide, LANGUAGES, type Language, type Localized, languageOf } from './languages.ts';
export { type Pictures, readPictures, sizeOf } from './read-pictures.ts';
export { readSources, type Sources } from './read-sources.ts';
