/** What the driver's own query types, such as cursors, are made with. */
declare module 'pg/lib/utils.js' {
  const utils: {
    /** A value as it is sent. */
    readonly prepareValue: (value: unknown) => string | Buffer | null;
  };
  export = utils;
}
