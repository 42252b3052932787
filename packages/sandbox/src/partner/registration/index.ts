export { createConsoleApi } from './console-api.ts';
export { keepTrying } from './keep-trying.ts';
export { type Registration, register } from './register.ts';
export { openRegistrationFile } from './registration-file.ts';
