/** Hosts that do not exist (RFC 2606), and hosts that models invent. */
const SAMPLE_HOST =
  /(?:^|\.)(?:(?:example|domain|sample|placeholder|yourdomain|yourcompany|mydomain|mycompany|email|mail|test|company|somewhere|foo|bar|acme|website|mysite|yoursite)\.(?:com|org|net|edu|io|co)|[a-z0-9-]+\.(?:example|invalid|test|localhost))$/i;
const SAMPLE_LOCAL =
  /^(?:user|username|name|your[._-]?(?:name|e?mail)|e?mail|john[._-]?doe|jane[._-]?doe|recipient|sender|someone|somebody|nobody|customer|test|foo|bar|example|sample|placeholder)[0-9]{0,3}$/i;

/**
 * Texts that models write without a value, in addition to the placeholders that every reader of plans
 * refuses.
 */
const SAMPLES: readonly RegExp[] = [
  /^(?:\.{3}|…|<[^<>]{1,80}>|\[(?:your|insert|enter|the)\b[^[\]]{0,80}\])$/i,
  /^(?:\$|%|__?|@)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:ID|KEY|TOKEN|EMAIL)(?:%|__?)?$/,
  /^(?:john|jane) (?:doe|smith)$/i,
  /^(?:507f1f77bcf86cd7994390[0-9a-f]{2}|123e4567-e89b-12d3-a456-426614174000|550e8400-e29b-41d4-a716-446655440000)$/i,
  /^(?:0{8}-0{4}-0{4}-0{4}-0{12}|0{24}|1234567890abcdef(?:12345678)?)$/i,
  /^(?:value|id|result|output|author_?id|user_?id|blog_?id) (?:from|of|returned by) (?:the )?(?:previous|prior|last|first|step|above)\b/i,
  /^sk-(?:x+|\.+|\*+|\.{3}|your.*|1234.*|abc.*)$/i,
];
const SAMPLE_TEXT = /\[(?:your|insert|recipient|sender|customer|company)(?:'s)?[ _-][^[\]\n]{1,60}\]/i;
const MAX_LENGTH = 200;

/** True for documentation samples and gaps to fill in. */
export function isSampleValue(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length <= MAX_LENGTH && SAMPLES.some((pattern) => pattern.test(trimmed))) return true;
  return SAMPLE_TEXT.test(text);
}

/** An e-mail or web address. */
export interface Address {
  readonly text: string;
  readonly host: string;
  /** Local part of an e-mail address. */
  readonly local?: string;
}

const EMAIL = /^(?:mailto:)?([A-Za-z0-9._%+-]{1,64})@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})$/;
const NAMED_EMAIL = /<([^<>\s]{3,200})>$/;
const URL_HOST = /^https?:\/\/(?:[^/?#@\s]{1,100}@)?([A-Za-z0-9.-]{1,253})(?:[:/?#]|$)/i;

/** The addresses in a text that contains only addresses, separated by commas; otherwise none. */
export function addressesIn(text: string): Address[] {
  if (text.length > 2_000) return [];
  const found = text.split(/[,;]/).map((part) => addressOf(part.trim()));
  return found.every((address) => address !== undefined) ? found : [];
}

function addressOf(text: string): Address | undefined {
  const email = EMAIL.exec(NAMED_EMAIL.exec(text)?.[1] ?? text);
  if (email?.[1] !== undefined && email[2] !== undefined)
    return { text: `${email[1]}@${email[2]}`, local: email[1], host: email[2] };
  const host = URL_HOST.exec(text)?.[1];
  return host === undefined ? undefined : { text, host };
}

/** True for an address that is most likely invented. */
export function isSampleAddress({ host, local }: Address): boolean {
  return SAMPLE_HOST.test(host) || (local !== undefined && SAMPLE_LOCAL.test(local));
}
