export { boundaryOf } from './boundary.ts';
export { createMultipartParser, MultipartError, type MultipartEvent } from './multipart-parser.ts';
export type { PartHeaders } from './part-headers.ts';
