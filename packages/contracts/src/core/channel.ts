/** Said over a channel by the side that answers before it stops: the other one leaves as soon as it has no call under way. */
export const CHANNEL_CLOSING_LINE = '{"closing":true}';
