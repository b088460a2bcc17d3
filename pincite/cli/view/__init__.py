"""How things look in a terminal: functions from the words of the domain to lines, with colour or without."""
