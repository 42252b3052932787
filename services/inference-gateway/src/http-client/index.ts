export { createHttpClient, type HttpClient } from './http-client.ts';
export type { HttpControl, HttpHandler, HttpRequest } from './http-exchange.ts';
export { CommonHeaders } from './http-exchange.ts';
