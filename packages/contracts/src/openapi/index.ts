export * from './asyncapi-document.ts';
export * from './document.ts';
export * from './errors-page.ts';
export * from './event-schemas.ts';
