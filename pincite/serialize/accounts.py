"""Users, groups, share links and audit events as JSON."""

from dataclasses import asdict

from pincite.core.accounts.audit import AuditEvent, ChainCheck
from pincite.core.accounts.conversations import Share, SharedAnswer
from pincite.core.accounts.users import Group, Person
from pincite.engine.quotas import Quotas
from pincite.serialize import answers


def person_shape(value: Person) -> answers.Json:
    """A user."""
    return asdict(value) | {"created_at": answers.moment(value.created_at)}


def group_shape(value: Group) -> answers.Json:
    """A group."""
    return asdict(value) | {"created_at": answers.moment(value.created_at)}


def share_shape(value: Share) -> answers.Json:
    """What is known about a link."""
    return {
        "reference": value.id,
        "owner": value.owner,
        "answer_id": value.answer_id,
        "created_at": answers.moment(value.created_at),
        "expires_at": answers.moment(value.expires_at),
    }


def shared_shape(value: SharedAnswer) -> answers.Json:
    """What a link shows: the answer as any other, and whose it is."""
    return answers.answer(value.answer) | {
        "question": value.question,
        "shared_by": value.shared_by,
        "reference": value.id,
        "answered_at": answers.moment(value.answered_at),
        "expires_at": answers.moment(value.expires_at),
    }


def event_shape(value: AuditEvent) -> answers.Json:
    """An event."""
    return asdict(value) | {"at": answers.moment(value.at)}


def verdict_shape(value: ChainCheck) -> answers.Json:
    """How checking the chain went; `events` is how many of them hold."""
    return {
        "ok": value.fault is None,
        "events": value.reached.number,
        "head": str(value.reached),
        "fault": value.fault,
    }


async def usage_shape(quotas: Quotas, by: str, person: str) -> answers.Json:
    """What a user has used and may use; `own` are limits that only they have."""
    used, limits = await quotas.used(by, person)
    told = asdict(used)
    return {"own": sorted(told.pop("own")), "usage": told, "limits": dict(limits)}
