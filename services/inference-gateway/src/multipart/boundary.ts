/** RFC 2046 section 5.1.1: at most 70 characters of these. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** The boundary that a multipart content type names; undefined where it names none that is well-formed. */
export const boundaryOf = (contentType: string | undefined): string | undefined => {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(contentType ?? '');
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined;
};
