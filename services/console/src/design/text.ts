/** "now", "40 s ago", "12 min ago", "3 h ago", "5 d ago". */
export function agoText(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1_000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** "2026-11-24 15:30:12 UTC". */
export function instantText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

/** When the first open approval ends: "expires at 2026-11-24 15:30:12 UTC". */
export function expiryText(at: string): string {
  return `expires at ${instantText(at)}`;
}

/** "820 B", "12.0 kB", "8.1 MB". */
export function sizeText(sizeBytes: number): string {
  if (sizeBytes < 1_000) return `${sizeBytes} B`;
  if (sizeBytes < 1_000_000) return `${(sizeBytes / 1_000).toFixed(1)} kB`;
  return `${(sizeBytes / 1_000_000).toFixed(1)} MB`;
}
