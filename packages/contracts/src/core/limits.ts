/** Bytes of an ordinary JSON body. */
export const JSON_BYTES_MAX = 1024 * 1024;
/** Bytes of a chat, completion or embedding body, which may carry images as base64. */
export const INFERENCE_JSON_BYTES_MAX = 32 * 1024 * 1024;
/** Values of an inference JSON body: the root, members and elements. */
export const JSON_VALUES_MAX = 500_000;
/** Levels of nesting of an inference JSON body, the root included. */
export const JSON_DEPTH_MAX = 64;
/** Bytes of one audio file. */
export const AUDIO_FILE_BYTES_MAX = 25_000_000;
/** Bytes that a multipart form may add to the audio file: part headers, boundaries and other fields. */
export const AUDIO_FORM_OVERHEAD_BYTES_MAX = 64 * 1024;
/** Bytes of an app icon. */
export const ICON_BYTES_MAX = 256 * 1024;
/** Bytes of an OAuth form: the limit of the library behind the token endpoint. */
export const FORM_BYTES_MAX = 56 * 1024;
/** Characters of a URL in a request. */
export const URL_CHARACTERS_MAX = 2048;
/** Pending requests of one account, over all apps. */
export const PENDING_REQUESTS_MAX = 2;
/** Attempts of one webhook delivery. */
export const WEBHOOK_ATTEMPTS_MAX = 8;
/** Allowed difference between a webhook's signed time and the receiver's clock. */
export const WEBHOOK_TOLERANCE_SECONDS = 300;
