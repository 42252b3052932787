type Write = (fields: { readonly [name: string]: unknown }, message: string) => void;

/** The part of the service's logger that this package uses, with field names on that logger's list. */
export interface MessagingLogger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
