/** RFC 2046 section 5.1.1: at most 70 of these characters. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Returns the boundary of a multipart content type; undefined if it is missing or malformed. */
export const boundaryOf = (contentType: string | undefined): string | undefined => {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(contentType ?? '');
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined;
};
