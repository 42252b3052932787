/** Returns the encodings that a client names and does not refuse, in lower case (RFC 9110 §12.5.3, weights ignored). */
export const acceptedEncodings = (header: string | undefined): ReadonlySet<string> =>
  new Set(
    (header ?? '')
      .split(',')
      .map((item) => item.trim().toLowerCase())
      .filter((item) => !/;\s*q=0(\.0*)?$/.test(item))
      .map((item) => item.split(';', 1)[0] ?? ''),
  );
