export * from './asyncapi-document.ts';
export * from './document.ts';
export * from './errors-page.ts';
