import { type FormEvent, useState } from "react";

/** The field for an API key or token of this tab. It stays in the memory of the page: a reload forgets it. */
export function KeyField({
  isSet,
  onToken,
}: {
  isSet: boolean;
  onToken: (token: string | undefined) => void;
}) {
  const [key, setKey] = useState("");
  function submit(event: FormEvent): void {
    event.preventDefault();
    const typed = key.trim();
    onToken(typed === "" ? undefined : typed);
    setKey("");
  }
  return (
    <form className="key-field" onSubmit={submit}>
      <label>
        <span>{isSet ? "API key in use" : "API key"}</span>
        <input
          type="password"
          value={key}
          autoComplete="off"
          placeholder={isSet ? "another key, or empty for none" : "if the service needs one"}
          onChange={({ target }) => setKey(target.value)}
        />
      </label>
      <button type="submit">Use</button>
    </form>
  );
}
