import { type FormEvent, useState } from "react";

/** Takes an API key or token for this tab. It stays in the memory of the page: a reload forgets it. */
export function KeyField({
  isSet,
  onToken,
}: {
  isSet: boolean;
  onToken: (token: string | undefined) => void;
}) {
  const [key, setKey] = useState("");
  function take(event: FormEvent): void {
    event.preventDefault();
    const given = key.trim();
    onToken(given === "" ? undefined : given);
    setKey("");
  }
  return (
    <form className="key-field" onSubmit={take}>
      <label>
        <span>{isSet ? "API key in use" : "API key"}</span>
        <input
          type="password"
          value={key}
          autoComplete="off"
          placeholder={isSet ? "another key, or empty for none" : "where the service asks for one"}
          onChange={({ target }) => setKey(target.value)}
        />
      </label>
      <button type="submit">Use</button>
    </form>
  );
}
