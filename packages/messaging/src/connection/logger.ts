type Write = (fields: { readonly [name: string]: unknown }, message: string) => void;

/** What this package needs of the service's logger. Only field names on that logger's list are used. */
export interface MessagingLogger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
