/** Quotes a text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a command that sends an event again, signed with the secret in `$SIGNING_SECRET`, which the pages do not know. */
export const curlSample = ({ url, eventId, payload }: { url: string; eventId: string; payload: string }): string =>
  `t=$(date +%s)
body=${quote(payload)}
v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r | cut -d ' ' -f 1)
curl ${quote(url)} -H 'content-type: application/json' -H ${quote(`webhook-id: ${eventId}`)} \\
  -H "x-svc-signature: t=$t,v1=$v1" --data-raw "$body"`;
