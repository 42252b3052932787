import type { Knex } from 'knex';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Characters whose codes end in the five bits of the digit in the same place. */
const FIVE_BITS = '@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_';
/** Digits that fit into a `bigint` together, and the hexadecimal digits that they make. */
const GROUP = { digits: 8, hex: 10 } as const;
const GROUP_STARTS = [2, 10, 18] as const;

/**
 * Creates `uuid_of_id` and `id_of_uuid`, in a migration of the service. Tables that keep an id for each request store its 128
 * bits as `uuid`, half the bytes of its text. Both sort alike.
 */
export const compactIdsMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    -- Returns the bits of an id with this prefix; NULL for any other text.
    CREATE FUNCTION uuid_of_id(p_prefix text, p_id text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      digits text := substr(p_id, length(p_prefix) + 2);
      b bytea;
    BEGIN
      IF NOT starts_with(p_id, p_prefix || '_') OR length(digits) <> 26 OR digits > '8' COLLATE "C" OR translate(digits, '${ALPHABET}', '') <> ''
        THEN RETURN NULL; END IF;
      b := convert_to(translate(digits, '${ALPHABET}', '${FIVE_BITS}'), 'UTF8');
      RETURN (lpad(to_hex(((get_byte(b, 0) & 31) << 5) | (get_byte(b, 1) & 31)), 2, '0')
        || ${GROUP_STARTS.map(hexOf).join('\n        || ')})::uuid;
    END $$;
    -- Returns the id with these bits.
    CREATE FUNCTION id_of_uuid(p_prefix text, p_bits uuid) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      hex text := translate(p_bits::text, '-', '');
      first int := ('x' || left(hex, 2))::bit(8)::int;
      a bigint := ('x' || substr(hex, 3, ${GROUP.hex}))::bit(40)::bigint;
      b bigint := ('x' || substr(hex, 13, ${GROUP.hex}))::bit(40)::bigint;
      c bigint := ('x' || substr(hex, 23, ${GROUP.hex}))::bit(40)::bigint;
      digits constant text := '${ALPHABET}';
    BEGIN
      RETURN p_prefix || '_' || substr(digits, (first >> 5) + 1, 1) || substr(digits, (first & 31) + 1, 1)
        || ${['a', 'b', 'c'].map(digitsOf).join('\n        || ')};
    END $$;
    -- Returns the time that an id begins with.
    CREATE FUNCTION time_of_uuid(p_bits uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
      RETURN to_timestamp(('x' || left(translate(p_bits::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
  `);
};

const shifts = Array.from({ length: GROUP.digits }, (_, place) => 5 * (GROUP.digits - 1 - place));

const hexOf = (start: number): string => {
  const bits = shifts.map((shift, place) => `((get_byte(b, ${start + place}) & 31)::bigint << ${shift})`);
  return `lpad(to_hex(${bits.join(' | ')}), ${GROUP.hex}, '0')`;
};

const digitsOf = (group: string): string =>
  shifts.map((shift) => `substr(digits, ((${group} >> ${shift}) & 31)::int + 1, 1)`).join(' || ');
